/** The same for the process that leads a run. */
export const observer = () => import(/* webpackMode: "eager" */ '../observe/openObserver.js');
export const otlp = () => import(/* webpackMode: "eager" */ '../export/otlpPush.js');
export const replays = () => import(/* webpackMode: "eager" */ '../replays.js');
