// The parts that the routes of the console work with.

import type { LateSearch } from '../../../client/search/late-search.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import type { OpenLog } from '../../history/open-log.ts'
import type { ConsoleReader } from './state/console-reader.ts'

export type ConsoleParts = {
  reader: ConsoleReader
  /** The log, open for reading. */
  log: OpenLog
  /** The search index of the log. */
  search: LateSearch
  /** The place of the log, for people. */
  source: string
  /** Of the same log, for changes. */
  settings: Settings
}
