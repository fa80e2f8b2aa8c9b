// Statistics of the Kafka benches.

export function median(values: number[]): number {
  return quantile(values, 0.5)
}

/**
 * For pairs of values of about the same time. On a machine with other load the median of the pairs'
 * ratios is more precise than the ratio of the medians.
 */
export function medianRatio(values: number[], baselines: number[]): number {
  return median(values.map((value, i) => value / (baselines[i] ?? Number.NaN)))
}

/** `share`: 0.99 for p99. Interpolated between two values. */
export function quantile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const place = (sorted.length - 1) * share
  const [below, above] = [
    sorted[Math.floor(place)] ?? Number.NaN,
    sorted[Math.ceil(place)] ?? Number.NaN,
  ]
  return below + (above - below) * (place - Math.floor(place))
}
