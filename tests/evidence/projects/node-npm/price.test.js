'use strict'

const assert = require('node:assert')
const { test } = require('node:test')
const { price } = require('./price.js')

test('a price without a discount is the price', () => {
  assert.strictEqual(price(100), 100)
})

test('a discount is taken off', () => {
  assert.strictEqual(price(100, 10), 90)
})

test('a coupon is taken off', { skip: 'no coupons yet' }, () => {})
