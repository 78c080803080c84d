'use strict'

exports.price = (cents, percent = 0) => cents - Math.floor((cents * percent) / 100)
