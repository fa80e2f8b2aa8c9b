// The frame of each command that makes a bundle: Ctrl-C and trouble leave no file.

import { type BundleWriter, createBundle } from '../../shared/bus/bundle/writer.ts'
import { listenForInterrupts } from '../terminal/interrupts.ts'

/**
 * `make` fills and finishes the bundle, and gives what to tell of it; undefined, or it throws:
 * `signal` had aborted, and it is not finished. Resolves to the exit code; 130: stopped by Ctrl-C.
 * Throws `output.exists`, `output.unwritable`, and what `make` throws.
 */
export async function makeBundle(
  { output, force = false }: { output: string; force?: boolean | undefined },
  out: NodeJS.WriteStream,
  make: (bundle: BundleWriter, signal: AbortSignal) => Promise<string | undefined>,
): Promise<0 | 130> {
  const bundle = createBundle(output, { force })
  const stop = new AbortController()
  const stopListening = listenForInterrupts(() => stop.abort())
  try {
    const told = await make(bundle, stop.signal)
    if (told === undefined) return stopped(bundle)
    out.write(told)
    return 0
  } catch (error) {
    if (stop.signal.aborted) return stopped(bundle)
    bundle.abandon()
    throw error
  } finally {
    stopListening()
  }
}

function stopped(bundle: BundleWriter): 130 {
  bundle.abandon()
  process.stderr.write('stopped: nothing was written\n')
  return 130
}
