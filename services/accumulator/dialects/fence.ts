// A text that is one fenced block, from its beginning to its end or to the cut.

const beginning = /^(`{3,16}|~{3,16})[ \t]*([A-Za-z0-9_-]{0,32})[ \t]*\r?\n/
/** Languages of fences that hold calls. A block in a programming language is an example of code. */
const languages = new Set(
  ' json json5 jsonc xml text plaintext tool_call tool_calls tool-call tool_code'.split(' '),
)

/** `language`: in lower case. `inside`: the contents without blanks around them. */
type Fenced = { language: string; inside: string }

/**
 * `text` has no blanks around it. `isCut`: the fence may still be open at the end of the text.
 * Undefined: the text is not one fenced block.
 */
export function fenced(text: string, isCut = false): Fenced | undefined {
  const [head, fence = '', written = ''] = beginning.exec(text) ?? []
  const language = written.toLowerCase()
  if (head === undefined || !languages.has(language)) return undefined
  const rest = text.slice(head.length)
  const inside = rest.endsWith(fence) ? rest.slice(0, -fence.length) : undefined
  // A second block means prose with examples. Inside a string, a line end is escaped.
  if (inside !== undefined && !inside.includes(`\n${fence}`))
    return { language, inside: inside.trim() }
  return isCut ? { language, inside: rest.trim() } : undefined
}
