"""What things cost."""

import unittest

from shop import price


class Prices(unittest.TestCase):
    def test_a_price_without_a_discount_is_the_price(self) -> None:
        assert price(100) == 100

    def test_a_discount_is_taken_off(self) -> None:
        assert price(100, 10) == 90

    @unittest.skip("no coupons yet")
    def test_a_coupon_is_taken_off(self) -> None:
        raise NotImplementedError
