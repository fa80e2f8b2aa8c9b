// The refusal text of a tool, from its agent file. Placeholders in braces are filled once, so a
// placeholder in the model's own text stays as it is.

export const denialPlaceholders = ['problems', 'accepted', 'sent', 'tool'] as const

export type DenialSlots = Record<(typeof denialPlaceholders)[number], string>

/** Only braces around one word are placeholders: JSON examples are full of braces. */
const placeholder = /\{([A-Za-z]\w{0,63})\}/g

export function filledTemplate(template: string, slots: DenialSlots): string {
  return template.replace(placeholder, (whole, name: string) =>
    Object.hasOwn(slots, name) ? slots[name as keyof DenialSlots] : whole,
  )
}

/** The unknown placeholders, each once. */
export function unknownPlaceholders(template: string): string[] {
  const known: readonly string[] = denialPlaceholders
  return [...new Set([...template.matchAll(placeholder)].map(([, name = '']) => name))].filter(
    (name) => !known.includes(name),
  )
}
