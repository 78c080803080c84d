//! A price with a discount.

/// The price in cents with a discount in percent.
pub fn price(cents: u32, percent: u32) -> u32 {
    cents - cents * percent / 100
}

#[cfg(test)]
mod tests {
    use super::price;

    #[test]
    fn a_price_without_a_discount_is_the_price() {
        assert_eq!(price(100, 0), 100);
    }

    #[test]
    #[ignore = "no coupons yet"]
    fn a_coupon_is_taken_off() {}
}
