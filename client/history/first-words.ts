// The beginning of a message, for lists.

const questionCharacters = 60

/** The first words of a message, on one line. */
export function firstWords(text: string): string {
  // A message may be large, and only its beginning counts.
  const line = text
    .slice(0, 20 * questionCharacters)
    .replaceAll(/\s+/g, ' ')
    .trim()
  const characters = [...line]
  if (characters.length <= questionCharacters) return line
  const start = characters.slice(0, questionCharacters).join('')
  const end = start.lastIndexOf(' ')
  return `${end > questionCharacters / 2 ? start.slice(0, end) : start}…`
}
