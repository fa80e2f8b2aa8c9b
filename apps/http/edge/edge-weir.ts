// Weir for the edge of a command, from the settings.

import type { Logger } from 'pino'
import { Weir, type WeirOptions } from '../../../client/weir.ts'
import { optionsOfSettings } from '../../../client/weir-options.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import type { Settings } from '../../../shared/settings/settings.ts'

/**
 * `agents`: by default those of the settings. Throws `usage` without agent files, and otherwise as
 * Weir.open.
 */
export async function openEdgeWeir(
  settings: Settings,
  {
    stages,
    log,
    agents = settings.agents,
  }: { stages: NonNullable<WeirOptions['stages']>; log: Logger; agents?: WeirOptions['agents'] },
): Promise<Weir> {
  if (agents === '')
    throw usageError(
      'the HTTP edge needs agent files: give a file or a folder with --agents (WEIR_AGENTS)',
    )
  return Weir.open({ ...optionsOfSettings(settings), agents, stages, log })
}
