// In charge of: exact fractions, so that frame rates and aspect ratios reach ffmpeg without floating point.
// Not in charge of: their meaning.

export interface Rational {
  num: number
  den: number
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b)
}

/** num/den in lowest terms. Both must be positive integers. */
export function ratio(num: number, den: number): Rational {
  const divisor = commonDivisor(num, den)
  return { num: num / divisor, den: den / divisor }
}

export function multiply(a: Rational, b: Rational): Rational {
  return ratio(a.num * b.num, a.den * b.den)
}

export function divide(a: Rational, b: Rational): Rational {
  return ratio(a.num * b.den, a.den * b.num)
}

export function invert(a: Rational): Rational {
  return { num: a.den, den: a.num }
}

export function toNumber(a: Rational): number {
  return a.num / a.den
}

export function sameRatio(a: Rational, b: Rational): boolean {
  return a.num * b.den === b.num * a.den
}

/** The difference between `a` and `b`, as a fraction of `b`. */
export function distance(a: Rational, b: Rational): number {
  return Math.abs(toNumber(a) / toNumber(b) - 1)
}

/** The best fraction whose two terms are at most `limit` (continued fractions): bitstreams store 16 bits for each. */
export function approximate(a: Rational, limit: number): Rational {
  if (a.num <= limit && a.den <= limit) return a
  let [num, den, lastNum, lastDen] = [1, 0, 0, 1]
  let [rest, divisor] = [a.num, a.den]
  while (divisor !== 0) {
    const whole = Math.floor(rest / divisor)
    const [nextNum, nextDen] = [whole * num + lastNum, whole * den + lastDen]
    if (nextNum > limit || nextDen > limit) break
    ;[lastNum, lastDen, num, den] = [num, den, nextNum, nextDen]
    ;[rest, divisor] = [divisor, rest - whole * divisor]
  }
  return num === 0 || den === 0 ? (a.num < a.den ? { num: 1, den: limit } : { num: limit, den: 1 }) : { num, den }
}
