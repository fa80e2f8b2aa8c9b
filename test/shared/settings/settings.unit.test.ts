import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import {
  readSettings,
  type SettingKey,
  settingKeys,
  settingsWithOrigins,
  settingTable,
} from '../../../shared/settings/settings.ts'
import { findSettingsFile } from '../../../shared/settings/settings-file.ts'
import { tenantWeightsOf } from '../../../shared/settings/tenant-weights.ts'

describe('settings', () => {
  it('have a default each', () => {
    expect(Object.keys(readSettings({}, {}))).toEqual(settingKeys)
    expect(readSettings({}, {})).toMatchObject({
      bus: 'embedded',
      dataFolder: '.weir',
      bootstrapServer: '',
      commandConfig: '',
      commandProperty: {},
      recordSigning: '',
      topicPrefix: 'weir.',
      partitions: 1,
      replicationFactor: 0,
      dataFolderBytesMax: 0,
      agents: '',
      healthHost: '127.0.0.1',
      healthPort: 0,
      synchronous: 'normal',
      logLevel: 'warn',
    })
  })

  it('have four partitions by default on Kafka', () => {
    const flags = { bus: 'kafka', bootstrapServer: 'b:9092' }
    expect(readSettings(flags, {})).toMatchObject({ partitions: 4 })
  })

  it('come from the flag, otherwise from the environment', () => {
    expect(
      readSettings({ partitions: '2' }, { WEIR_PARTITIONS: '3', WEIR_LOG_LEVEL: 'debug' }),
    ).toMatchObject({
      partitions: 2,
      logLevel: 'debug',
    })
  })

  it('name every bad value, its source and the accepted values', () => {
    expect(
      mistakesOf(() =>
        readSettings({ partitions: '0' }, { WEIR_LOG_LEVEL: 'loud', WEIR_SYNCHRONOUS: 'full' }),
      ),
    ).toEqual([
      'partitions is "0" (from the flag --partitions); must be a whole number from 1 to 500',
      'logLevel is "loud" (from the variable WEIR_LOG_LEVEL); must be trace, debug, info, warn, error, fatal or silent',
    ])
  })

  it.each(['2.5', 'many', '', '1e9', '-1', '501'])(
    'refuse %j as a number of partitions',
    (value) => {
      expect(() => readSettings({ partitions: value }, {})).toThrow(
        expect.objectContaining({ code: 'settings.invalid' }),
      )
    },
  )

  it.each([
    [{ dataFolder: '' }, 'dataFolder is "" (from the flag --data-folder); must not be empty'],
    [
      { topicPrefix: 'a/b' },
      'topicPrefix is "a/b" (from the flag --topic-prefix); must match ^[A-Za-z0-9._-]{0,100}$',
    ],
  ])('refuse %j', (flags, words) => {
    expect(mistakesOf(() => readSettings(flags, {}))).toEqual([words])
  })
})

describe('settings of Kafka', () => {
  const kafka = { bus: 'kafka', bootstrapServer: 'a:9092,[::1]:9092' }

  it('take one property per flag or per line of the variable, and the last one of a name wins', () => {
    const flags = {
      ...kafka,
      commandProperty: ['client.id=me', 'sasl.password=a=b ', 'client.id=you'],
    }
    expect(readSettings(flags, {}).commandProperty).toEqual({
      'client.id': 'you',
      'sasl.password': 'a=b ',
    })
    const lines = 'client.id=me\r\n\nsasl.jaas.config=x required y="z";\n'
    expect(readSettings(kafka, { WEIR_COMMAND_PROPERTY: lines }).commandProperty).toEqual({
      'client.id': 'me',
      'sasl.jaas.config': 'x required y="z";',
    })
  })

  it.each(['=x', 'secret'])('never show a property that cannot be used, such as %j', (property) => {
    expect(mistakesOf(() => readSettings({ ...kafka, commandProperty: [property] }, {}))).toEqual([
      'commandProperty is not acceptable (from the flag --command-property); must be NAME=VALUE',
    ])
  })

  it.each(['broker', 'broker:x', 'a:1, b:2', 'a:1,', 'a:123456'])(
    'refuse %j as brokers',
    (bootstrapServer) => {
      expect(mistakesOf(() => readSettings({ bus: 'kafka', bootstrapServer }, {}))).toEqual([
        `bootstrapServer is "${bootstrapServer}" (from the flag --bootstrap-server); must be HOST:PORT, several with commas between them`,
      ])
    },
  )

  it('need a broker, and are refused with another bus', () => {
    expect(mistakesOf(() => readSettings({}, { WEIR_BUS: 'kafka' }))).toEqual([
      'bus is kafka (from the variable WEIR_BUS), and no broker is configured; set --bootstrap-server HOST:9092 (WEIR_BOOTSTRAP_SERVER)',
    ])
    const ofCommand = { name: 'weir topics', values: { bus: 'kafka' } }
    expect(mistakesOf(() => readSettings({}, {}, undefined, ofCommand))).toEqual([
      'bus is kafka (from weir topics), and no broker is configured; set --bootstrap-server HOST:9092 (WEIR_BOOTSTRAP_SERVER)',
    ])
    const remedy = 'give --bus kafka (WEIR_BUS=kafka), or leave'
    expect(
      mistakesOf(() =>
        readSettings({ commandProperty: ['a=b'] }, { WEIR_BOOTSTRAP_SERVER: 'a:1' }),
      ),
    ).toEqual([
      `bus is embedded (from the default), and bootstrapServer is given (from the variable WEIR_BOOTSTRAP_SERVER); ${remedy} bootstrapServer out`,
      `bus is embedded (from the default), and commandProperty is given (from the flag --command-property); ${remedy} commandProperty out`,
    ])
  })

  it('may name the broker in their properties, which the Kafka client reads', () => {
    expect(readSettings({ bus: 'kafka', commandConfig: 'client.properties' }, {})).toMatchObject({
      bootstrapServer: '',
    })
  })

  it('count as absent if a variable is empty', () => {
    const empty = { WEIR_BOOTSTRAP_SERVER: '', WEIR_COMMAND_CONFIG: '', WEIR_COMMAND_PROPERTY: '' }
    expect(readSettings({}, empty)).toMatchObject({ bus: 'embedded', commandProperty: {} })
  })
})

describe('the name of a setting', () => {
  it('ends in the unit if the value is a duration', () => {
    const durations = settingKeys.flatMap((key) => {
      const { unit, variable } = settingTable[key]
      return unit === 'ms' || unit === 'days' ? [{ key, variable, unit }] : []
    })
    expect(durations.length).toBeGreaterThan(2)
    for (const { key, variable, unit } of durations) {
      expect(key.toLowerCase().endsWith(unit)).toBe(true)
      expect(variable.endsWith(`_${unit.toUpperCase()}`)).toBe(true)
    }
  })
})

describe('retention', () => {
  it('must be longer than the longest turn and the tolerated downtime together', () => {
    expect(
      mistakesOf(() => readSettings({ retentionDays: '5' }, { WEIR_TOLERATED_DOWNTIME_DAYS: '3' })),
    ).toEqual([
      'retentionDays is 5 days (from the flag --retention-days), toleratedDowntimeDays is 3 days (from the variable WEIR_TOLERATED_DOWNTIME_DAYS): ' +
        'the longest turn (50 hours) and the tolerated downtime (3 days) must fit into it; set retentionDays to at least 6, or toleratedDowntimeDays to less',
    ])
    expect(readSettings({ retentionDays: '6', toleratedDowntimeDays: '3' }, {})).toMatchObject({
      retentionDays: 6,
      toleratedDowntimeDays: 3,
    })
  })

  it('must be longer than the longest turn even without tolerated downtime', () => {
    expect(() => readSettings({ retentionDays: '1', toleratedDowntimeDays: '0' }, {})).toThrow(
      'set retentionDays to at least 3',
    )
    expect(readSettings({ retentionDays: '3', toleratedDowntimeDays: '0' }, {})).toMatchObject({
      retentionDays: 3,
    })
  })

  it('is none in a data folder by default, and a week on Kafka, of which Weir may be down for three days', () => {
    expect(readSettings({}, {})).toMatchObject({ retentionDays: 0, toleratedDowntimeDays: 3 })
    const kafka = { bus: 'kafka', bootstrapServer: 'localhost:9092' }
    expect(readSettings(kafka, {})).toMatchObject({ retentionDays: 7, toleratedDowntimeDays: 3 })
    expect(readSettings({ ...kafka, retentionDays: '0' }, {})).toMatchObject({ retentionDays: 0 })
  })
})

describe('a settings file', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-settings-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  const find = (config?: string, environment: NodeJS.ProcessEnv = {}) =>
    findSettingsFile({ config, environment, folder })

  it('loses to flags and environment, wins over defaults, and each value has its source', () => {
    write('weir.yaml', '# ours\nlogLevel: warn\npartitions: 8\nsynchronous: full\n')
    const flags = { synchronous: 'off' }
    expect(settingsWithOrigins(flags, { WEIR_PARTITIONS: '2' }, find())).toMatchObject({
      bus: { value: 'embedded', origin: { kind: 'default' } },
      dataFolder: { value: '.weir', origin: { kind: 'default' } },
      bootstrapServer: { value: '', origin: { kind: 'default' } },
      commandConfig: { value: '', origin: { kind: 'default' } },
      commandProperty: { value: {}, origin: { kind: 'default' } },
      topicPrefix: { value: 'weir.', origin: { kind: 'default' } },
      partitions: { value: 2, origin: { kind: 'environment', name: 'WEIR_PARTITIONS' } },
      replicationFactor: { value: 0, origin: { kind: 'default' } },
      synchronous: { value: 'off', origin: { kind: 'flag', name: '--synchronous' } },
      logLevel: { value: 'warn', origin: { kind: 'file', name: 'weir.yaml:2' } },
    })
  })

  const harmless = new Map<SettingKey, string>([
    ['dataFolder', 'data'],
    ['partitions', '2'],
    ['replicationFactor', '2'],
    ['sessionTimeoutMs', '20000'],
    ['tenantWeights', '{ acme: 2 }'],
    ['synchronous', 'full'],
    ['logLevel', 'info'],
  ])
  const harmful = new Map<SettingKey, string>([
    ['bus', 'kafka\nbootstrapServer: attacker:9092'],
    ['dataFolder', '../theirs'],
    ['bootstrapServer', 'attacker:9092'],
    ['commandConfig', 'theirs.properties'],
    ['commandProperty', '{ bootstrap.servers: "attacker:9092" }'],
    ['plaintextPassword', 'allow'],
    ['recordSigning', 'theirs.json'],
    ['traceHeaders', 'on'],
    ['encryptionKeys', 'theirs'],
    ['encryptionCommand', './evil'],
    ['topicPrefix', 'theirs.'],
    ['groupInstanceId', 'one'],
    ['retentionDays', '9'],
    ['auditDays', '3'],
    ['toleratedDowntimeDays', '0'],
    ['synchronous', 'off'],
    ['dataFolderBytesMax', '9000000000'],
    ['logLevel', 'debug'],
    ['agents', 'evil.yaml'],
    ['healthHost', '0.0.0.0'],
    ['healthPort', '8080'],
  ])

  it('that was found may set a few harmless settings, and each other setting is refused', () => {
    expect(new Set([...harmless.keys(), ...harmful.keys()])).toEqual(new Set(settingKeys))
    for (const [key, value] of harmless) {
      write('weir.yaml', `${key}: ${value}`)
      expect(() => readSettings({}, {}, find())).not.toThrow()
    }
    for (const [key, value] of harmful) {
      write('weir.yaml', `${key}: ${value}`)
      const flags = settingTable[key].onlyFor === 'kafka' ? { bus: 'kafka' } : {}
      const broker = { WEIR_BOOTSTRAP_SERVER: 'ours:9092' }
      const environment = 'bus' in flags && key !== 'bootstrapServer' ? broker : {}
      expect(mistakesOf(() => readSettings(flags, environment, find()))).toContainEqual(
        expect.stringMatching(
          new RegExp(`^${key} is set in weir.yaml:1, a file found in this folder`),
        ),
      )
    }
  })

  it('that was found can be trusted by its name', () => {
    write('weir.yaml', 'agents: evil.yaml')
    expect(mistakesOf(() => readSettings({}, {}, find()))).toEqual([
      'agents is set in weir.yaml:1, a file found in this folder; if you trust the file, name it with --config (WEIR_CONFIG), or set agents with --agents (WEIR_AGENTS)',
    ])
    expect(() => readSettings({}, {}, find('weir.yaml'))).not.toThrow()
  })

  it('is optional', () => {
    expect(find()).toBeUndefined()
  })

  it('may be JSON, and may be empty', () => {
    write('weir.json', '{ "partitions": 3 }')
    expect(readSettings({}, {}, find())).toMatchObject({ partitions: 3 })
    write('empty.yaml', '# nothing yet\n')
    expect(readSettings({}, {}, find('empty.yaml'))).toMatchObject({ partitions: 1 })
  })

  it('is the file of the flag, otherwise of the variable, otherwise of the working folder', () => {
    write('weir.yaml', 'partitions: 1')
    write('a.yaml', 'partitions: 2')
    write('b.yml', 'partitions: 3')
    expect(readSettings({}, {}, find())).toMatchObject({ partitions: 1 })
    expect(readSettings({}, {}, find(undefined, { WEIR_CONFIG: 'a.yaml' }))).toMatchObject({
      partitions: 2,
    })
    expect(readSettings({}, {}, find('b.yml', { WEIR_CONFIG: 'a.yaml' }))).toMatchObject({
      partitions: 3,
    })
  })

  it('has paths that start at its own folder', () => {
    const name = join(folder, 'weir.yaml')
    write('weir.yaml', 'dataFolder: data')
    expect(readSettings({}, {}, find(name)).dataFolder).toBe(join(folder, 'data'))
    expect(readSettings({}, {}, find()).dataFolder).toBe('data')
    write('weir.yaml', 'dataFolder: /var/lib/weir')
    expect(readSettings({}, {}, find(name)).dataFolder).toBe('/var/lib/weir')
  })

  it('has properties as a mapping, and may have empty paths', () => {
    write(
      'weir.yaml',
      'bus: kafka\nbootstrapServer: a:1\ncommandConfig: ""\ncommandProperty: { request.timeout.ms: 3000, a: true }\n',
    )
    expect(readSettings({}, {}, find('weir.yaml'))).toMatchObject({
      commandConfig: '',
      commandProperty: { 'request.timeout.ms': '3000', a: 'true' },
    })
    write('list.yaml', 'commandProperty: [sasl.password=x]\n')
    write('deep.yaml', 'commandProperty: { a: { b: x } }\n')
    for (const name of ['list', 'deep'])
      expect(mistakesOf(() => readSettings({}, {}, find(`${name}.yaml`)))).toEqual([
        `commandProperty is not acceptable (from ${name}.yaml:1); must be a mapping of names to texts, numbers, true or false`,
      ])
  })

  it('has the weights of tenants as a mapping, and each weight is from 1 to 1000', () => {
    write('weir.yaml', 'tenantWeights: { acme: 4, other: 1000 }\n')
    const weightOf = tenantWeightsOf(readSettings({}, {}, find()))
    expect(['acme', 'other', 'nobody', '__proto__'].map(weightOf)).toEqual([4, 1000, 1, 1])
    for (const wrong of ['acme=0', 'acme=1001', 'acme=1.5', 'Acme=2', 'acme='])
      expect(mistakesOf(() => readSettings({ tenantWeights: ['other=2', wrong] }, {}))).toEqual([
        `tenantWeights is ${JSON.stringify(wrong)} (from the flag --tenant-weights); must be TENANT=WEIGHT, with a whole number from 1 to 1000`,
      ])
  })

  it('reports all its mistakes at once with those of flags and variables', () => {
    write(
      'weir.yaml',
      'partitons: 4\nlogLevel: loud\nsynchronous: 1\ntopicPrefix:\ncolour: red\npartitions: "4"\n',
    )
    expect(mistakesOf(() => readSettings({ dataFolder: '', partitions: '2' }, {}, find()))).toEqual(
      [
        'topicPrefix is null (from weir.yaml:4); must be a text; put quotes around it',
        'partitions is "4" (from weir.yaml:6); must be a whole number from 1 to 500',
        'synchronous is 1 (from weir.yaml:3); must be off, normal or full',
        'logLevel is "loud" (from weir.yaml:2); must be trace, debug, info, warn, error, fatal or silent',
        'dataFolder is "" (from the flag --data-folder); must not be empty',
        'weir.yaml:1:1 partitons: is an unknown setting; did you mean partitions?',
        `weir.yaml:5:1 colour: is an unknown setting; settings: ${settingKeys.slice(0, -1).join(', ')} and ${settingKeys.at(-1)}`,
      ],
    )
  })

  it.each([
    ['missing.yaml', '', 'missing.yaml:1 (from the flag --config) does not exist'],
    [
      'weir.toml',
      'x',
      'weir.toml (from the flag --config) is not a settings file; its name must end in .yaml, .yml or .json',
    ],
    ['', '', 'the flag --config is empty; must be the path of a settings file'],
    ['list.yaml', '- 1', 'list.yaml:1:1: is a list of 1; must be a mapping of settings'],
    [
      'twice.yaml',
      'partitions: 1\npartitions: 2',
      'twice.yaml:2:1 partitions: is given twice, first in line 1; keep one',
    ],
    ['bad.json', '{ "partitions": }', 'bad.json:1:17: is not JSON from here on'],
  ])('is refused: %j with %j', (name, text, words) => {
    if (text !== '') write(name, text)
    expect(mistakesOf(() => readSettings({}, {}, find(name)))).toEqual([words])
  })

  it('is refused if there are two', () => {
    write('weir.yaml', '')
    write('weir.json', '{}')
    expect(mistakesOf(() => readSettings({}, {}, find()))).toEqual([
      'weir.yaml and weir.json are both there; keep one of them',
    ])
  })
})

function mistakesOf(read: () => unknown): string[] {
  try {
    read()
    return []
  } catch (error) {
    const [title, ...lines] = (error as Error).message.split('\n')
    expect(title).toBe('Settings cannot be used.')
    return lines.map((line) => line.slice(2))
  }
}
