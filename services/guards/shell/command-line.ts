// The arguments of a command as options and operands, as most GNU and BSD commands read them.

import { anything, isUnknown, list } from './field.ts'

export type CommandLine = {
  /** In their order, as `-x` or `--name`. `value` is undefined for an option without one. */
  options: { name: string; value: string | undefined }[]
  operands: string[]
  /** An unknown argument at a place where an option could be. */
  uncertain: string | undefined
}

/**
 * `valued`: the options that take a value, as `-x` or `--name`. The value follows the option or is
 * part of it (`-xVALUE`, `--name=VALUE`). A long name may be abbreviated, as in GNU. `-x*` marks a
 * short option whose value, if any, is part of it (`-i.bak`).
 * `stops`: the first operand ends the options.
 */
export function commandLine(fields: readonly string[], valued: string, stops = false): CommandLine {
  const names = list(valued)
  const line: CommandLine = { options: [], operands: [], uncertain: undefined }
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] as string
    if (field === '--') {
      line.operands.push(...fields.slice(i + 1))
      break
    }
    if (field[0] === anything) line.uncertain ??= field
    if (!field.startsWith('-') || field === '-') {
      line.operands.push(field)
      if (!stops) continue
      line.operands.push(...fields.slice(i + 1))
      break
    }
    i += option(field, fields[i + 1], names, line)
  }
  return line
}

/** Reads `--name`, `--name=VALUE` or `-abc`. Returns how many of the following fields it consumes. */
function option(field: string, next: string | undefined, names: string[], line: CommandLine) {
  if (field.startsWith('--')) {
    const equals = field.indexOf('=')
    const given = equals < 0 ? field : field.slice(0, equals)
    if (isUnknown(given)) line.uncertain ??= field
    const name = names.includes(given) ? given : (names.find((n) => n.startsWith(given)) ?? given)
    const takesNext = equals < 0 && names.includes(name)
    const value = equals >= 0 ? field.slice(equals + 1) : takesNext ? next : undefined
    line.options.push({ name, value })
    return takesNext ? 1 : 0
  }
  for (let i = 1; i < field.length; i++) {
    const name = `-${field[i]}`
    const rest = field.slice(i + 1)
    if (isUnknown(name)) line.uncertain ??= field
    const isAttached = names.includes(`${name}*`)
    if (isAttached || names.includes(name)) {
      line.options.push({ name, value: isAttached || rest !== '' ? rest : next })
      return isAttached || rest !== '' ? 0 : 1
    }
    line.options.push({ name, value: undefined })
  }
  return 0
}

/** The values of an option under any of its names. */
export function valuesOf({ options }: CommandLine, names: string): string[] {
  const all = list(names)
  return options.filter(({ name }) => all.includes(name)).map(({ value }) => value ?? '')
}

// ── Words, without the meaning of options ──

export function operandsOf(args: readonly string[]): string[] {
  const end = args.indexOf('--')
  return args.filter((arg, i) => (end >= 0 && i > end) || !arg.startsWith('-'))
}

/**
 * The values of options, as `-o VALUE`, `-oVALUE`, `-xoVALUE`, `--output VALUE` or `--outp=VALUE`.
 * In doubt too many.
 */
export function optionValues(args: readonly string[], names: string): string[] {
  const all = list(names)
  const letters = all.filter((name) => name.length === 2).map((name) => name[1])
  const short = new RegExp(`^-[^\\s/'"{]*?[${letters.join('')}](.*)$`, 's')
  return args.flatMap((arg, i) => {
    const [given = '', ...rest] = arg.split('=')
    const isLong = all.some((name) => name.length > 2 && given.length > 2 && name.startsWith(given))
    if (isLong && given.startsWith('-'))
      return [rest.length > 0 ? rest.join('=') : (args[i + 1] ?? '')]
    const found = letters.length > 0 && !arg.startsWith('--') ? short.exec(arg) : null
    return found === null ? [] : [found[1] || (args[i + 1] ?? '')]
  })
}

export function has(args: readonly string[], names: string): boolean {
  return optionValues(args, names).length > 0
}
