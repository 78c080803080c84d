package org.example;

import static org.junit.Assert.assertEquals;

import org.junit.Ignore;
import org.junit.Test;

public class ShopTest {
    @Test
    public void aPriceWithoutADiscountIsThePrice() {
        assertEquals(100, Shop.price(100, 0));
    }

    @Test
    public void aDiscountIsTakenOff() {
        assertEquals(90, Shop.price(100, 10));
    }

    @Test
    @Ignore("no coupons yet")
    public void aCouponIsTakenOff() {}
}
