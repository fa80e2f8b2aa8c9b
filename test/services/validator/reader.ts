// A second reader of JSON (RFC 8259), written without any code of Weir, for tests: it keeps every
// member, reads numbers as decimals, and refuses all that is not JSON.

/** Members are pairs, in their order. `decimal`: a number as digits × 10^exponent. */
export type Read =
  | { kind: 'object'; members: [string, Read][] }
  | { kind: 'array'; items: Read[] }
  | { kind: 'string'; value: string }
  | { kind: 'number'; decimal: string; text: string }
  | { kind: 'word'; value: 'true' | 'false' | 'null' }

/** Throws where the text is not JSON. */
export function readStrictly(text: string): Read {
  let at = 0
  const fail = (): never => {
    throw new Error(`not JSON at ${at}`)
  }
  const blanks = () => {
    while (' \t\n\r'.includes(text[at] ?? 'x')) at += 1
  }
  const take = (expected: string) => {
    if (text[at] !== expected) fail()
    at += 1
  }
  const match = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const [found] = pattern.exec(text) ?? []
    if (found === undefined) return fail()
    at += found.length
    return found
  }
  const string = (): string => {
    take('"')
    let value = ''
    for (; text[at] !== '"'; ) {
      if (at >= text.length || text.charCodeAt(at) < 0x20) fail()
      if (text[at] !== '\\') value += text[at++]
      else {
        at += 1
        const [first = ''] = match(/u[0-9a-fA-F]{4}|["\\/bfnrt]/y)
        value +=
          first === 'u'
            ? String.fromCharCode(Number.parseInt(text.slice(at - 4, at), 16))
            : ({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }[first] ?? first)
      }
    }
    at += 1
    return value
  }
  const list = <Item>(close: string, item: () => Item): Item[] => {
    at += 1
    const items: Item[] = []
    for (blanks(); text[at] !== close; blanks()) {
      if (items.length > 0) take(',')
      blanks()
      items.push(item())
    }
    at += 1
    return items
  }
  const member = (): [string, Read] => {
    const name = string()
    blanks()
    take(':')
    return [name, value()]
  }
  const value = (): Read => {
    blanks()
    if (text[at] === '{') return { kind: 'object', members: list('}', member) }
    if (text[at] === '[') return { kind: 'array', items: list(']', value) }
    if (text[at] === '"') return { kind: 'string', value: string() }
    if (/[tfn]/.test(text[at] ?? ''))
      return { kind: 'word', value: match(/true|false|null/y) as 'true' }
    const number = match(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y)
    return { kind: 'number', text: number, decimal: decimal(number) }
  }
  const whole = value()
  blanks()
  if (at < text.length) fail()
  return whole
}

function decimal(text: string): string {
  const [mantissa = '', power = '0'] = text.replace('-', '').toLowerCase().split('e')
  const [before = '', after = ''] = mantissa.split('.')
  const digits = (before + after).replace(/^0+/, '')
  const short = digits.replace(/0+$/, '')
  if (short === '') return '0'
  const sign = text.startsWith('-') ? '-' : ''
  return `${sign}${short}e${Number(power) - after.length + digits.length - short.length}`
}

/** The value that JSON.parse gives for the same text. Undefined: some members are not unique. */
export function parsedValue(read: Read): unknown {
  switch (read.kind) {
    case 'object':
      return Object.fromEntries(read.members.map(([name, member]) => [name, parsedValue(member)]))
    case 'array':
      return read.items.map(parsedValue)
    case 'number':
      return Number(read.text)
    case 'word':
      return JSON.parse(read.value)
    default:
      return read.value
  }
}

/** Every object in it, with the names of its members as sent. */
export function namesIn(read: Read): string[][] {
  if (read.kind === 'array') return read.items.flatMap(namesIn)
  if (read.kind !== 'object') return []
  return [
    read.members.map(([name]) => name),
    ...read.members.flatMap(([, member]) => namesIn(member)),
  ]
}

/** Every number in it. */
export function numbersIn(read: Read): { text: string; decimal: string }[] {
  if (read.kind === 'number') return [read]
  if (read.kind === 'array') return read.items.flatMap(numbersIn)
  return read.kind === 'object' ? read.members.flatMap(([, member]) => numbersIn(member)) : []
}
