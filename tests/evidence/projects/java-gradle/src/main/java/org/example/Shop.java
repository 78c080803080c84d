package org.example;

/** A price with a discount. */
public final class Shop {
    private Shop() {}

    public static int price(int cents, int percent) {
        return cents - cents * percent / 100;
    }
}
