// The bus as a program names it (`WeirOptions.bus`), and the same in settings.

import type { Clock } from '../../shared/lib/clock.ts'
import type { BusName, SettingFlagValues, Settings } from '../../shared/settings/settings.ts'

/** `clock`: for tests (weir-agents/testing). Default: the machine's. */
export type EmbeddedBusChoice = { kind: 'embedded'; clock?: Clock }

/** The options of Kafka's own tools. */
export type KafkaBusChoice = {
  kind: 'kafka'
  /**
   * `HOST:PORT`, several with commas between them. Default: `bootstrap.servers` of the properties.
   */
  bootstrapServer?: string
  /** The path of a client.properties. */
  commandConfig?: string
  /** These properties win over those of the file. */
  properties?: Record<string, string>
  /**
   * Whether SASL PLAIN may send its password without TLS to another machine. Default `deny`.
   */
  plaintextPassword?: 'deny' | 'allow'
  /** The key file of this program, or a folder with several: signs its records (weir keys create). */
  recordSigning?: string
  /** `on`: records have the header `traceparent` of their turn. Default `off`. */
  traceHeaders?: 'off' | 'on'
}

export type BusChoice = EmbeddedBusChoice | KafkaBusChoice

/** For error texts. */
export const exampleChoice = "{ kind: 'kafka', bootstrapServer: 'HOST:9092' }"

/** Translates a program's choice to settings, and back. */
type Translation<Choice extends BusChoice> = {
  toFlags(choice: Choice): SettingFlagValues
  ofSettings(settings: Settings): Choice
}

const translations: {
  [Name in BusName]: Translation<Extract<BusChoice, { kind: Name }>>
} = {
  embedded: {
    // Options of another bus pass too: the settings refuse them by name.
    toFlags: flagsOf,
    ofSettings: () => ({ kind: 'embedded' }),
  },
  kafka: {
    toFlags: flagsOf,
    ofSettings: ({
      bootstrapServer,
      commandConfig,
      commandProperty,
      plaintextPassword,
      recordSigning,
      traceHeaders,
    }) => ({
      kind: 'kafka',
      bootstrapServer,
      commandConfig,
      properties: commandProperty,
      plaintextPassword,
      recordSigning,
      traceHeaders,
    }),
  },
}

/** An unknown kind becomes a setting as it is: the settings refuse it and name the known ones. */
export function flagsOfChoice<Name extends BusName>(
  choice: Extract<BusChoice, { kind: Name }>,
): SettingFlagValues {
  return { bus: String(choice.kind), ...translations[choice.kind as Name]?.toFlags(choice) }
}

export function choiceOfSettings(settings: Settings): BusChoice {
  return translations[settings.bus].ofSettings(settings)
}

type GivenChoice = { kind: BusName } & Omit<KafkaBusChoice, 'kind'>

function flagsOf(choice: GivenChoice): SettingFlagValues {
  const { bootstrapServer, commandConfig, properties } = choice
  const { plaintextPassword, recordSigning, traceHeaders } = choice
  const pairs = Object.entries(properties ?? {}).map(([name, value]) => `${name}=${value}`)
  return {
    ...(bootstrapServer !== undefined && { bootstrapServer: String(bootstrapServer) }),
    ...(commandConfig !== undefined && { commandConfig: String(commandConfig) }),
    ...(plaintextPassword !== undefined && { plaintextPassword: String(plaintextPassword) }),
    ...(recordSigning !== undefined && { recordSigning: String(recordSigning) }),
    ...(traceHeaders !== undefined && { traceHeaders: String(traceHeaders) }),
    ...(pairs.length > 0 && { commandProperty: pairs }),
  }
}

/** Undefined: that of the machine. */
export function clockOfChoice(choice: BusChoice | undefined): Clock | undefined {
  return choice?.kind === 'embedded' ? choice.clock : undefined
}
