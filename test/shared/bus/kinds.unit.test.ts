// The list of buses is the only place that knows a bus by name. Callers ask for capabilities.

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from '@jest/globals'
import { busKindOf, busNamesWhere } from '../../../shared/bus/kinds.ts'
import { busNames } from '../../../shared/settings/settings.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Files outside a bus's own folder that may name a bus, each with its reason. */
const mayNameABus: Record<string, string> = {
  'shared/settings/settings.ts': 'the list of names, and the settings of only one bus',
  'shared/bus/kinds.ts': 'the list of records',
  'client/place/bus-choice.ts': 'the public option of each bus',
  'client/guard/log/fronts.ts': 'the same options for guests',
  'client/guard/guard-options.ts': 'the checks of these options',
  'apps/service/topics/topics.ts': "a command for Kafka's topics",
}

describe('a bus', () => {
  it('is named only in the lists of buses', () => {
    const files = ['apps', 'client', 'services', 'shared'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => join(folder, file)),
    )
    const naming = files.filter((file) => {
      if (/^shared\/bus\/(embedded|kafka)\//.test(file)) return false
      return /'(embedded|kafka)'/.test(readFileSync(join(root, file), 'utf8'))
    })
    expect(naming.filter((file) => !Object.hasOwn(mayNameABus, file))).toEqual([])
  })

  it('is found by its name with all its capabilities', () => {
    expect(busNames.map((bus) => busKindOf({ bus }).title)).toEqual(['the embedded bus', 'Kafka'])
    expect(busNamesWhere((kind) => kind.isLocal)).toEqual(['embedded'])
    expect(busNamesWhere((kind) => !kind.ownsTopics)).toEqual(['kafka'])
  })

  it("does not load Kafka's client before Kafka is opened", () => {
    const script = `
      import Module from 'node:module'
      await import(${JSON.stringify(join(root, 'client/place/open-bus.ts'))})
      const loaded = Object.keys(Module._cache).filter((file) => file.endsWith('/kafkajs/index.js') || file.endsWith('/kafkajs/src/index.js'))
      console.log(JSON.stringify(loaded))`
    const out = execFileSync(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', script],
      { encoding: 'utf8' },
    )
    expect(JSON.parse(out)).toEqual([])
  })
})
