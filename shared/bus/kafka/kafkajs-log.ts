// kafkajs's log lines through ours. It calls an error what the bus expects, repeats and reports
// itself with what it means for Weir (a broker that is away, a leader that moved), so all of them
// are for who looks closely: `debug`. Its lines carry no keys, passwords or records; the fields
// that are kept are named here, so that none can come in.

import type { Logger } from 'pino'

type Entry = {
  namespace: string
  label: string
  log: { message: string } & Record<string, unknown>
}

/** What kafkajs calls a logCreator. */
export type KafkajsLog = () => (entry: Entry) => void

const keptFields = [
  'broker',
  'error',
  'code',
  'correlationId',
  'retryCount',
  'groupId',
  'memberId',
] as const

export function kafkajsLog(log: Logger): KafkajsLog {
  return () =>
    ({ namespace, label, log: line }) => {
      if (!log.isLevelEnabled('debug')) return
      const kept = keptFields.flatMap((name) =>
        typeof line[name] === 'object' || line[name] === undefined ? [] : [[name, line[name]]],
      )
      log.debug({ kafkajs: namespace || label, ...Object.fromEntries(kept) }, line.message)
    }
}
