// The arguments of a command, as words or as the options and operands of a known program.

import { unclear } from './denial.ts'
import { anything, list } from './field.ts'

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

/** `flag`: options without a value, or with an attached one. The value of `valued` follows it. */
export type Shape = {
  flag: RegExp
  valued: RegExp
  /** Options of `valued` behind which no other option follows. */
  ends?: RegExp
  /** Options may follow operands. */
  permutes?: true
}

export type Parsed = { options: [name: string, value: string][]; rest: string[] }

/** Reads options and operands. Refuses an option that the shape does not name. */
export function optionsOf(base: string, args: readonly string[], shape: Shape): Parsed {
  const parsed: Parsed = { options: [], rest: [] }
  for (let at = 0; at < args.length; at++) {
    const [arg = '', value = ''] = args.slice(at, at + 2)
    const isOperand = !/^[-+\uE000]./s.test(arg)
    const isEnd = arg === '--' || (isOperand && !shape.permutes)
    if (isEnd)
      return { ...parsed, rest: [...parsed.rest, ...args.slice(arg === '--' ? at + 1 : at)] }
    if (isOperand) parsed.rest.push(arg)
    else if (shape.valued.test(arg)) {
      if (value[0] === anything) throw unclear(base, value)
      parsed.options.push([arg, value])
      if (shape.ends?.test(arg)) return { ...parsed, rest: args.slice(at + 2) }
      at++
    } else if (shape.flag.test(arg)) parsed.options.push([arg, ''])
    else throw unclear(base, arg)
  }
  return parsed
}
