declare const thorough: boolean

/**
 * How often a drill does the same again, or how much of it.
 * @param gate in `.ci/run` (`npm test` and `npm run test:rest`), which runs for each change
 * @param all in `npm run test:all`
 */
export const rounds = (gate: number, all: number): number => (thorough ? all : gate)
