// The table of limits, from those whose comment has the tag `@public`.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../../shared/contract/limits.ts'
import { root } from '../generated-file.ts'
import { type Tables, withoutStop } from './table.ts'

export function limitTables(): Tables {
  const source = readFileSync(join(root, 'shared/contract/limits.ts'), 'utf8')
  const rows = [...source.matchAll(/\/\*\*((?:(?!\*\/).)*)@public\s*\*\/((?:(?!\/\*\*).)*)/gs)].map(
    ([, comment = '', members = '']) => {
      const names = [...members.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name as LimitName)
      return [
        withoutStop(comment.replace(/\n\s*\*/g, ' ').trim()),
        names.map(limitText).join(' / '),
      ]
    },
  )
  return { Bounds: { columns: ['bound of', 'limit'], rows } }
}

type LimitName = keyof typeof limits

/** The name ends in the unit. */
function limitText(name: LimitName): string {
  const value = limits[name]
  if (/Bytes(Max)?$/.test(name)) return inUnits(value, 1024, ['bytes', 'KiB', 'MiB'])
  if (!/Ms(Max)?$/.test(name)) return value.toLocaleString('en-US')
  const days = value / (24 * 60 * 60_000)
  if (Number.isInteger(days) && days > 1) return `${days} days`
  return value < 1_000 ? `${value} ms` : inUnits(value / 1_000, 60, ['s', 'min', 'h'])
}

/** The value in the largest unit in which it is whole. */
function inUnits(value: number, factor: number, units: readonly string[]): string {
  const [unit = '', ...larger] = units
  return larger.length > 0 && value >= factor && Number.isInteger(value / factor)
    ? inUnits(value / factor, factor, larger)
    : `${value.toLocaleString('en-US')} ${unit}`
}
