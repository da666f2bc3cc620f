/** Header by which the embedded hub and the emulators are known in each of their HTTP answers. */
export const emulatorHeader = 'X-SignalR-Bench';
