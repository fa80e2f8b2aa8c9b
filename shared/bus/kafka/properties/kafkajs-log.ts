// Sends kafkajs's log lines to ours, all as `debug`. kafkajs logs an error where the bus expects a
// failure, retries it, and reports it with its meaning for Weir. The lines contain no keys,
// passwords or records. Only the fields named here are kept.

import type { Logger } from 'pino'

type Entry = {
  namespace: string
  label: string
  log: { message: string } & Record<string, unknown>
}

/** A logCreator in the terms of kafkajs. */
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
