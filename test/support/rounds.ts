declare const thorough: boolean

/**
 * The number of repetitions of a drill, or its size.
 * @param gate in `.ci/run` (`npm test` and `npm run test:rest`), which runs for each change
 * @param all in `npm run test:all`
 */
export const rounds = (gate: number, all: number): number => (thorough ? all : gate)
