// The relays of the bench on Kafka, and the way to open one.

export type RelayKind = 'kafkajs' | 'validator' | 'signed' | 'guard'

/** `brokerPid`: its CPU time is measured, too. */
export type RelayOptions = {
  kind: RelayKind
  bootstrapServers: string
  topicPrefix: string
  /** The folder with the keys of signed records. */
  keys?: string | undefined
  count?: { warmUp: number; records: number; brokerPid: number | undefined }
}

/**
 * `done`: call it with a number of records when their outputs are acknowledged. Resolves when the
 * relay is a member of its group.
 */
export type OpenRelay = (
  options: Pick<RelayOptions, 'bootstrapServers' | 'topicPrefix' | 'keys'>,
  done: (records: number) => void,
) => Promise<{ failed: Promise<never>; close(): Promise<void> }>
