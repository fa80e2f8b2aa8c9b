// The relays that the bench on Kafka measures, and how one is opened.

export type RelayKind = 'kafkajs' | 'validator' | 'guard'

/** `brokerPid`: whose CPU time is measured, too. */
export type RelayOptions = {
  kind: RelayKind
  bootstrapServers: string
  topicPrefix: string
  count?: { warmUp: number; records: number; brokerPid: number | undefined }
}

/**
 * `done`: to be called with a number of records when what they led to is acknowledged. Resolves
 * when it is a member of its group.
 */
export type OpenRelay = (
  options: Pick<RelayOptions, 'bootstrapServers' | 'topicPrefix'>,
  done: (records: number) => void,
) => Promise<{ failed: Promise<never>; close(): Promise<void> }>
