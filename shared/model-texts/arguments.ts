// The notes that the model reads under a refusal of its arguments. Each one is a whole sentence.

export const oneObject = 'Arguments have to be the text of one JSON object and nothing else.'
export const objectInString = 'Send the object itself, not its text inside a string.'
export const textTooLong = 'Send a shorter text.'
export const callTooLong = 'Send less in one call.'
export const keepShort = 'Keep them short, so that they fit into one response.'
export const incompleteArguments =
  'Nothing was run, because what arrived may only be the beginning. To make this call, send all of its arguments.'
export const lostArguments = [
  'Argument text came that belongs to no call, so that of this call was lost on the way.',
  'Make the call again.',
]
export const noArgumentText =
  'No argument text came with this call: none was sent, or it was lost on the way.'

export function meansNoArguments(sent: string): string {
  return `The argument text was ${sent}, which means no arguments.`
}

export function strangeEscape(shown: string): string {
  return `'${shown}' is no escape of JSON, and readers differ in its meaning. Write \\\\ for a backslash, \\n for a line end, \\u and four digits for another character.`
}

/** Members of an object that readers take differently. */
export const ambiguousMember = {
  repeated: 'Each field may be given once: readers differ in which of two they take.',
  alike: 'Some readers take them for one field. Give the one that you mean, once.',
  nul: 'Some readers end a name there. Leave that character out.',
}

export const exactName = (name: string): string => `If you mean ${name}, write exactly that name.`
export const numberAsString = 'Send it as a string: this field accepts one.'
export const fewerDigits = 'Send a number with at most 15 significant digits.'

export const noToolOffered = 'No tool is offered in this request.'
export const toolsOffered = (names: string): string => `Tools offered in this request: ${names}.`
export const didYouMean = (names: string): string => `Did you mean ${names}?`
export const badDeclaration =
  'This is a fault of how the tool is declared, not of your arguments. Do not call this tool again.'

export const sentKind = (kind: string, field: string): string => `You sent ${kind} for ${field}.`
export const forExample = (value: string): string => `For example: ${value}`
export const noFieldsAccepted = 'This tool accepts no fields.'
export const fieldsAccepted = (names: string): string => `Accepted fields: ${names}.`
