// The search index of a process that may never search: it is opened for the first filter.

import type { Settings } from '../../shared/settings/settings.ts'
import type { ReadableLog } from '../history/readable-log.ts'
import type { Search } from './search.ts'

export type LateSearch = {
  open(): Promise<Search>
  close(): Promise<void>
}

export function lateSearch(log: Omit<ReadableLog, 'progress'>, settings: Settings): LateSearch {
  let opened: Promise<Search> | undefined

  async function open(): Promise<Search> {
    const [{ openSearch }, { searchFileOf }] = await Promise.all([
      import('./search.ts'),
      import('./index-file.ts'),
    ])
    const progress = { expect: () => {}, read: () => {} }
    return openSearch({ ...log, progress, searchFile: searchFileOf(settings) })
  }

  return {
    open() {
      opened ??= open()
      return opened
    },
    async close() {
      await (await opened?.catch(() => undefined))?.close()
    },
  }
}
