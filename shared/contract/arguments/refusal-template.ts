// The text of a tool's refusals as its agent file may word it: placeholders in braces, filled once,
// so that what a model sent is never read as one.

export const refusalPlaceholders = ['problems', 'accepted', 'sent', 'tool'] as const

export type RefusalSlots = Record<(typeof refusalPlaceholders)[number], string>

/** Braces around anything but one word are meant as they stand: JSON examples are full of them. */
const placeholder = /\{([A-Za-z]\w{0,63})\}/g

export function filledTemplate(template: string, slots: RefusalSlots): string {
  return template.replace(placeholder, (whole, name: string) =>
    Object.hasOwn(slots, name) ? slots[name as keyof RefusalSlots] : whole,
  )
}

/** Names in it that nothing is known of, each once. */
export function unknownPlaceholders(template: string): string[] {
  const known: readonly string[] = refusalPlaceholders
  return [...new Set([...template.matchAll(placeholder)].map(([, name = '']) => name))].filter(
    (name) => !known.includes(name),
  )
}
