// Tests that need a sandbox. They count as skipped where this machine can make none.

import { describe } from '@jest/globals'
import { sandboxBackend } from '../../shared/lib/sandbox/backend.ts'

/** Skipped without bubblewrap. */
export const inSandboxes = 'backend' in sandboxBackend() ? describe : describe.skip
