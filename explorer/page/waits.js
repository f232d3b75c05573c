import {make} from './dom.js';
export const drawWaits = () => make('div');
