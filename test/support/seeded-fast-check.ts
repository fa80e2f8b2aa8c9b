// What tests get as `fast-check` (jest.config.js): every property tries the same examples in every run, so that a run that fails fails again, and one that
// passed was not lucky. WEIR_TEST_SEED, a whole number, has it try others.

// By its path, because the name leads here.
import fc from '../../node_modules/fast-check/lib/fast-check.js'

const seed = Number(process.env.WEIR_TEST_SEED ?? 1)
if (!Number.isSafeInteger(seed)) throw new Error(`WEIR_TEST_SEED is ${process.env.WEIR_TEST_SEED}; it must be a whole number.`)
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed })

export default fc
