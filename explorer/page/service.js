import {make} from './dom.js';
export const drawService = () => make('div');
