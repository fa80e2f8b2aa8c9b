// sasl.jaas.config, as Java reads it: `org.apache.kafka.common.security.plain.PlainLoginModule
// required username="u" password="p";` No error message contains any of its values.

const modules: Record<string, string> = {
  PLAIN: 'org.apache.kafka.common.security.plain.PlainLoginModule',
  'SCRAM-SHA-256': 'org.apache.kafka.common.security.scram.ScramLoginModule',
  'SCRAM-SHA-512': 'org.apache.kafka.common.security.scram.ScramLoginModule',
}

export type Login = { username: string; password: string }

/** `fault` completes "sasl.jaas.config ". */
export function loginOf(config: string, mechanism: string): Login | { fault: string } {
  const module = modules[mechanism]
  const like = `must be like ${module} required username="..." password="...";`
  const words = wordsOf(config)
  if (words === undefined)
    return { fault: `cannot be read: a quotation mark is not closed; ${like}` }
  const [name, flag, ...rest] = words
  if (name === undefined || flag === undefined) return { fault: `is cut off; ${like}` }
  if (name !== module) {
    if (Object.values(modules).includes(name))
      return { fault: `has the module of another mechanism than ${mechanism}; ${like}` }
    return { fault: `has a module that Weir does not support; for ${mechanism} it ${like}` }
  }
  const end = rest.indexOf(';')
  if (end === -1) return { fault: `has no semicolon at its end; ${like}` }
  if (end < rest.length - 1)
    return { fault: 'has text after its semicolon; Weir uses one login module' }
  return loginIn(rest.slice(0, end), like)
}

function loginIn(words: string[], like: string): Login | { fault: string } {
  const options = new Map<string, string>()
  for (let at = 0; at < words.length; at += 3) {
    const [option = '', equals, value] = words.slice(at, at + 3)
    if (equals !== '=' || value === undefined)
      return { fault: `has an option without a value; ${like}` }
    if (option !== 'username' && option !== 'password')
      return { fault: `has an option other than username and password; ${like}` }
    options.set(option, value)
  }
  const [username, password] = [options.get('username'), options.get('password')]
  if (username === undefined || username === '') return { fault: `has no username; ${like}` }
  return password === undefined || password === ''
    ? { fault: `has no password; ${like}` }
    : { username, password }
}

/** Words, quoted texts, `=` and `;`. Undefined if a quotation mark is still open at the end. */
function wordsOf(text: string): string[] | undefined {
  const words: string[] = []
  const pattern = /\s+|"((?:[^"\\]|\\[\s\S])*)"|([=;])|([^\s"=;]+)|(")/gy
  for (const [, quoted, mark, word, open] of text.matchAll(pattern)) {
    if (open !== undefined) return undefined
    if (quoted !== undefined) words.push(quoted.replaceAll(/\\([\s\S])/g, '$1'))
    else if (mark !== undefined || word !== undefined) words.push((mark ?? word) as string)
  }
  return words
}
