// A folder for the files of one bench.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Removes the folder afterwards. */
export async function withBenchFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
