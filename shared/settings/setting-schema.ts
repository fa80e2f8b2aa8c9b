// The schema of a setting, and the check of a value against it. Written by hand: a library would
// cost every command a tenth of a second at its start.

/** `properties`: names with texts, written `NAME=VALUE`. `pattern` is of each as it is written. */
export type SettingSchema = {
  type: 'string' | 'integer' | 'properties'
  default: string | number | Properties
  enum?: string[]
  pattern?: string
  /** The pattern in words. */
  expected?: string
  minLength?: number
  minimum?: number
  maximum?: number
}

export type Properties = Readonly<Record<string, string>>

export type SettingContent = string | number | Properties

/** `value`: only usable without a fault. `fault` never holds the value, which may be a secret. */
export type Judgement = { value: SettingContent; fault: string | undefined }

/** Judges a flag or a variable. `texts`: all values of a repeated flag, or the lines of a variable. */
export function judgeTexts(texts: readonly string[], schema: SettingSchema): Judgement {
  if (schema.type === 'properties') return judgeEach(judgeLines(texts), schema)
  const text = texts.at(-1) ?? ''
  return judgeValue(
    schema.type === 'integer' && /^\d{1,15}$/.test(text) ? Number(text) : text,
    schema,
  )
}

/** Judges a value of a settings file. */
export function judgeValue(value: unknown, schema: SettingSchema): Judgement {
  return schema.type === 'properties'
    ? judgeEach(judgeMapping(value), schema)
    : { value: value as SettingContent, fault: faultOf(value, schema) }
}

function judgeEach(judgement: Judgement, { pattern, expected }: SettingSchema): Judgement {
  if (judgement.fault !== undefined || pattern === undefined) return judgement
  const isWrong = Object.entries(judgement.value).some(
    ([name, value]) => !new RegExp(pattern).test(`${name}=${value}`),
  )
  return { value: judgement.value, fault: isWrong ? expected : undefined }
}

function judgeLines(lines: readonly string[]): Judgement {
  const pairs: [string, string][] = []
  for (const line of lines) {
    const at = line.indexOf('=')
    if (at < 1) return { value: {}, fault: 'must be NAME=VALUE' }
    pairs.push([line.slice(0, at).trim(), line.slice(at + 1)])
  }
  return { value: Object.fromEntries(pairs), fault: undefined }
}

function judgeMapping(value: unknown): Judgement {
  const fault = 'must be a mapping of names to texts, numbers, true or false'
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { value: {}, fault }
  const pairs = Object.entries(value)
  if (pairs.some(([, one]) => !['string', 'number', 'boolean'].includes(typeof one)))
    return { value: {}, fault }
  return {
    value: Object.fromEntries(pairs.map(([name, one]) => [name, String(one)])),
    fault: undefined,
  }
}

function faultOf(value: unknown, schema: SettingSchema): string | undefined {
  const {
    type,
    enum: allowed,
    pattern,
    expected = `must match ${pattern}`,
    minLength = 0,
    minimum = 0,
    maximum,
  } = schema
  if (type === 'integer') {
    const isWithin =
      Number.isInteger(value) &&
      (value as number) >= minimum &&
      (value as number) <= (maximum ?? Number.MAX_SAFE_INTEGER)
    return isWithin ? undefined : `must be a whole number from ${minimum} to ${maximum}`
  }
  if (typeof value !== 'string')
    return `must be ${allowed === undefined ? 'a text; put quotes around it' : oneOf(allowed)}`
  if (allowed !== undefined)
    return allowed.includes(value) ? undefined : `must be ${oneOf(allowed)}`
  if (value.length < minLength) return 'must not be empty'
  return pattern === undefined || new RegExp(pattern).test(value) ? undefined : expected
}

function oneOf(allowed: string[]): string {
  return `${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1)}`
}
