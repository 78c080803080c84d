use shop::price;

#[test]
fn a_discount_is_taken_off() {
    assert_eq!(price(100, 10), 90);
}
