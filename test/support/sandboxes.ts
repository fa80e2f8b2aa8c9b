// Tests that need a sandbox. They count as skipped where this machine can make none.

import { describe } from '@jest/globals'
import { sandboxBackend } from '../../shared/lib/sandbox/backend.ts'

const found = sandboxBackend()

/** Skipped without any backend. */
export const inSandboxes = 'backend' in found ? describe : describe.skip

/** Skipped without bubblewrap. */
export const inBubblewrap =
  'backend' in found && found.backend.kind === 'bubblewrap' ? describe : describe.skip
