// Package labels has no tests.
package labels

// Currency is printed behind a price.
const Currency = "ct"
