// One line of the benchmark's table. All benches return their results in this shape, and main.ts
// prints them.

export type Row = {
  name: string
  value: number
  unit: string
  /** The comparison value, and `ratio`: the value divided by it. */
  baseline?: string
  ratio?: number
  /** The reason for a missing value. `value` is then meaningless. */
  notMeasured?: string
}
