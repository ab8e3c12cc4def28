/** The parts of undici that http.ts loads. The types of undici cover only the whole package. */
declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici';
}
declare module 'undici/lib/dispatcher/dispatcher.js' {
  export { Dispatcher as default } from 'undici';
}
declare module 'undici/lib/core/connect.js' {
  export { buildConnector as default } from 'undici';
}
declare module 'undici/lib/api/index.js' {
  /** The methods that undici adds to each dispatcher, such as `request`. */
  const methods: Readonly<Record<string, unknown>>;

  export { methods as default };
}
