// The text for turns without their beginning. Export, report and judge print the same one.

/** `turns`: `1 turn`, `turn 3`. */
export function missingBeginning(turns: string): string {
  return `the log no longer has the beginning of ${turns}`
}
