"""A price with a discount."""


def price(cents: int, percent: int = 0) -> int:
    return cents - cents * percent // 100
