package shop

import "testing"

func TestPriceWithoutDiscount(t *testing.T) {
	if got := Price(100, 0); got != 100 {
		t.Fatalf("got %d", got)
	}
}

func TestDiscount(t *testing.T) {
	t.Run("ten", func(t *testing.T) {
		if got := Price(100, 10); got != 90 {
			t.Errorf("got %d", got)
		}
	})
}

func TestCoupon(t *testing.T) {
	t.Skip("no coupons yet")
}
