"""What things cost."""

import pytest
from shop import price


def test_a_price_without_a_discount_is_the_price() -> None:
    assert price(100) == 100


def test_a_discount_is_taken_off() -> None:
    assert price(100, 10) == 90


@pytest.mark.skip(reason="no coupons yet")
def test_a_coupon_is_taken_off() -> None:
    raise NotImplementedError
