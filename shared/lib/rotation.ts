// Repeated texts that differ only in where they begin: `abc`, `bca`, `cab`.

/** Whether the texts are equal except for their beginning. Linear in their length. */
export function isRotation(one: string, other: string): boolean {
  return one.length === other.length && (one + one).includes(other)
}
