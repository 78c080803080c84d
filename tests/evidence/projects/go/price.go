// Package shop knows a price with a discount.
package shop

// Price is the price in cents with a discount in percent.
func Price(cents, percent int) int {
	return cents - cents*percent/100
}
