// The table of settings, from the table that the programs read.

import { settingTable } from '../../shared/settings/settings.ts'
import { code, type Tables } from './table.ts'

export function settingTables(): Tables {
  const rows = Object.entries(settingTable).map(
    ([name, { variable, description, unit, schema, defaultOf }]) => {
      const byBus = Object.entries(defaultOf ?? {}).map(([bus, value]) => `${value} on ${bus}`)
      const values = schema.enum === undefined ? '' : `: ${schema.enum.map(code).join(', ')}`
      return [
        code(name),
        code(variable),
        [defaultText(schema.default, unit), ...byBus].join('; '),
        `${description}${values}`,
      ]
    },
  )
  return { 'All settings': { columns: ['setting', 'variable', 'default', 'meaning'], rows } }
}

function defaultText(value: unknown, unit = ''): string {
  if (value === '' || typeof value === 'object') return 'none'
  return typeof value === 'number' ? `${value} ${unit}`.trim() : code(`${value}`)
}
