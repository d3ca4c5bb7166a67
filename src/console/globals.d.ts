declare module 'virtual:graph' {
  const schema: readonly import('./graphql/brief-schema.ts').BriefType[]
  export default schema
}
