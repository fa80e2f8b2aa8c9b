// One line of the benchmark's table. All benches give their results in this shape; main.ts prints
// them.

export type Row = {
  name: string
  value: number
  unit: string
  /** What the value is compared with, and `ratio` how many times that it is. */
  baseline?: string
  ratio?: number
  /** Why there is no value here; then `value` means nothing. */
  notMeasured?: string
}
