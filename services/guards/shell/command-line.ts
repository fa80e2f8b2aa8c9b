// The arguments of a command as options and operands, as most GNU and BSD commands read them.

import { beginsUnknown, isUnknown } from './field.ts'

export type CommandLine = {
  /** In their order, as `-x` or `--name`. `value` is undefined for an option without one. */
  options: { name: string; value: string | undefined }[]
  operands: string[]
  /** An unknown argument at a place where an option could be. */
  uncertain: string | undefined
}

/**
 * `valued`: the options that take a value, as `-x` or `--name`. The value follows the option or is
 * part of it (`-xVALUE`, `--name=VALUE`). A long name may be abbreviated, as in GNU.
 * `attached`: short options whose value, if any, is part of them (`-i.bak`).
 * `stops`: the first operand ends the options.
 */
export function commandLine(
  fields: readonly string[],
  {
    valued = [],
    attached = [],
    stops = false,
  }: { valued?: readonly string[]; attached?: readonly string[]; stops?: boolean } = {},
): CommandLine {
  const line: CommandLine = { options: [], operands: [], uncertain: undefined }
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] as string
    if (field === '--') {
      line.operands.push(...fields.slice(i + 1))
      break
    }
    if (beginsUnknown(field)) line.uncertain ??= field
    if (!field.startsWith('-') || field === '-') {
      line.operands.push(field)
      if (stops) {
        line.operands.push(...fields.slice(i + 1))
        break
      }
    } else if (field.startsWith('--')) {
      const equals = field.indexOf('=')
      const given = equals < 0 ? field : field.slice(0, equals)
      if (isUnknown(given)) line.uncertain ??= field
      const name = valued.includes(given)
        ? given
        : (valued.find((option) => option.startsWith(given)) ?? given)
      const takesNext = equals < 0 && valued.includes(name)
      line.options.push({
        name,
        value: equals >= 0 ? field.slice(equals + 1) : takesNext ? fields[++i] : undefined,
      })
    } else {
      i += cluster(field, fields[i + 1], { valued, attached }, line)
    }
  }
  return line
}

/** `-abc`. Returns how many of the following fields it consumes. */
function cluster(
  field: string,
  next: string | undefined,
  { valued, attached }: { valued: readonly string[]; attached: readonly string[] },
  line: CommandLine,
): number {
  const { options } = line
  for (let i = 1; i < field.length; i++) {
    const name = `-${field[i]}`
    if (isUnknown(name)) line.uncertain ??= field
    if (attached.includes(name)) {
      options.push({ name, value: field.slice(i + 1) })
      return 0
    }
    if (valued.includes(name)) {
      const rest = field.slice(i + 1)
      options.push({ name, value: rest === '' ? next : rest })
      return rest === '' ? 1 : 0
    }
    options.push({ name, value: undefined })
  }
  return 0
}

/** The values of an option under any of its names. */
export function valuesOf({ options }: CommandLine, ...names: string[]): string[] {
  return options.filter(({ name }) => names.includes(name)).map(({ value }) => value ?? '')
}

export function has({ options }: CommandLine, ...names: string[]): boolean {
  return options.some(({ name }) => names.includes(name))
}
