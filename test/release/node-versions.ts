// The versions of Node.js on which the npm package is installed and run (test/release/package.ts).

export const nodeVersions = ['22.18.0', '24', '26'] as const
