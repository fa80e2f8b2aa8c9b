// The module that tests import as `fast-check` (jest.config.js). Every property tries the same
// examples in every run, so a failure repeats and a success is not luck. WEIR_TEST_SEED, a whole
// number, selects other examples.

// Imported by its path, because the name leads to this file.
import fc, { type StringConstraints } from '../../node_modules/fast-check/lib/fast-check.js'

const seed = Number(process.env.WEIR_TEST_SEED ?? 1)
if (!Number.isSafeInteger(seed))
  throw new Error(`WEIR_TEST_SEED is ${process.env.WEIR_TEST_SEED}; it must be a whole number.`)
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed })

const surrogates = { from: 0xd800, count: 0x800 }

/**
 * The same characters as the unit `binary`. For that, fast-check makes a table of all 1.1 million,
 * which takes seconds in each file that uses it.
 */
const anyCharacter = fc.nat(0x10ffff - surrogates.count).map(
  (n) => String.fromCodePoint(n < surrogates.from ? n : n + surrogates.count),
  (character) => {
    const codePoint =
      typeof character === 'string' && [...character].length === 1
        ? character.codePointAt(0)
        : undefined
    if (codePoint === undefined || !(character as string).isWellFormed())
      throw new Error('This is not a character.')
    return codePoint < surrogates.from ? codePoint : codePoint - surrogates.count
  },
)

function string({ unit, ...constraints }: StringConstraints = {}): ReturnType<typeof fc.string> {
  return fc.string({
    ...constraints,
    ...(unit !== undefined && { unit: unit === 'binary' ? anyCharacter : unit }),
  })
}

export default { ...fc, string }
